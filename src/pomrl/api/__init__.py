"""The Python interface of `import pomrl` (docs/python.md).

Settings are keyword arguments; estimator__prior=VALUE stands for estimator.prior=VALUE.
"""
