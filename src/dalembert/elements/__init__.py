"""What a model is made of: each element in one file, with its declaration, its record and its mathematics."""
