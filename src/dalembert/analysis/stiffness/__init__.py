"""Cartesian stiffness of bodies in force fields, and of mechanisms (Metzger, Faruk Senan and O'Reilly 2010)."""
