"""A new run: flow, profile, parameters, job script, submit."""
