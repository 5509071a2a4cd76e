"""From a model to arrays: index maps, sparsity, and the mass, force, constraint and tangent of the whole."""
