"""How many examples the property tests try: `--hypothesis-profile=ci` (the default), `fast` or `soak`.

And the servers that tests of several folders have in common.
"""

from hypothesis import HealthCheck, Phase, settings

from tests.kafka.fixtures import kafka

__all__ = ["kafka"]

# The same examples in each run, so that a failure is never a matter of luck; the clock of a busy machine is no fault.
settings.register_profile("ci", derandomize=True, max_examples=100, deadline=None, database=None, print_blob=False)
settings.register_profile("fast", settings.get_profile("ci"), max_examples=10)
# Each test tries a multiple of this; all together take some 20 minutes of one core. What fails is shrunk, but not
# explained, which would try it thousands of times more.
settings.register_profile(
    "soak",
    max_examples=4_000,
    deadline=None,
    print_blob=True,
    phases=[phase for phase in Phase if phase is not Phase.explain],
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("ci")
