"""The ground floor: the one compile decorator, calls into user functions, 3-vector arithmetic."""
