"""How many examples the property tests try: `--hypothesis-profile=ci` (the default), `fast` or `soak`."""

from hypothesis import HealthCheck, settings

# The same examples in each run, so that a failure is never a matter of luck; the clock of a busy machine is no fault.
settings.register_profile("ci", derandomize=True, max_examples=100, deadline=None, database=None, print_blob=False)
settings.register_profile("fast", settings.get_profile("ci"), max_examples=10)
settings.register_profile(
    "soak",
    max_examples=5_000,
    deadline=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("ci")
