"""Families of tasks on models that people know: one number, the latent, differs from task to task and ties all rows.

`family` has the base class; each other module has one family. `gymnasium_tables` makes models of Gymnasium's tables.
"""
