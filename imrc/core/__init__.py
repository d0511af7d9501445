"""The method: sample moments, expected quadratic change, tracking recursions, learner, theory.

Symbols used in this package (ASCII names, the same everywhere)

======== ==================================================================================
``tau``  mean vector estimate, shape (m,) with m = C (D + 1): one block per class
``s``    mean squared error of the mean vector, component by component
``d``    expected quadratic change d^2 between consecutive tasks, component by component
``lam``  confidence vector lambda
``mu``   classifier parameters
``phi``  feature map of an instance; Phi(x, y) = e_y (x) [1, phi(x)]
``k``    number of tasks seen; ``b`` backward steps; ``W`` window of the change estimate
======== ==================================================================================

Suffixes ``_fwd``, ``_bwd``, ``_fb`` (forward and backward) and ``_smooth``. Tasks count from 0 in code.
"""
