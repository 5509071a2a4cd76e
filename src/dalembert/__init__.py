"""Constrained mechanics in Python: motion, equilibrium, vibration and reactions of bodies tied together by joints."""
