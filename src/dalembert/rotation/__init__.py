"""Quaternions, rotation vectors and Euler angles."""
