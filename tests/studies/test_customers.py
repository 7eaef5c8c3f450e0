"""Customers of the study `beyond`: their models are what the docstring says, and rewards can be shared."""

import numpy as np
import pytest

from pomrl_studies.beyond.customers import Tariffs

WAIT, CHARGE, SELL = range(3)


@pytest.mark.parametrize("customer", [0, 30, 63])
def test_steps_combine_charge_and_weather(customer: int) -> None:
    customers = Tariffs().candidate_models()
    P = customers.P[customer].reshape(6, 2, 3, 6, 2)
    change = P[3, [0, 1], WAIT, :, [1, 0]].sum(1)
    efficiency = P[0, 0, CHARGE, 1].sum()
    assert np.all((change >= 0.1) & (change <= 0.5))
    assert 0.6 <= efficiency <= 0.95
    moves = (WAIT, 0.05, -1), (CHARGE, efficiency, 1), (SELL, 0.9, -1)
    for level in range(6):
        for weather in range(2):
            for action, chance, step in moves:
                expected = np.zeros((6, 2))
                weather_chances = np.array([1.0 - change[weather], change[weather]])[[weather, 1 - weather]]
                expected[level] += (1.0 - chance) * weather_chances
                expected[min(max(level + step, 0), 5)] += chance * weather_chances
                np.testing.assert_allclose(P[level, weather, action], expected, atol=1e-15)


def test_rewards_are_prices_less_storage() -> None:
    R = Tariffs().candidate_models().R.reshape(64, 6, 2, 3)
    np.testing.assert_allclose(R[..., WAIT], np.broadcast_to(-0.1 * np.arange(6)[:, None], (64, 6, 2)))
    buy, sell = (R[..., action] - R[..., WAIT] for action in (CHARGE, SELL))
    np.testing.assert_allclose(buy, np.broadcast_to(buy[:, :1], buy.shape))  # whatever the charge is
    np.testing.assert_allclose(sell[:, 0], -2.0)
    np.testing.assert_allclose(sell[:, 1:], np.broadcast_to(sell[:, 1:2], sell[:, 1:].shape))
    assert -3.0 <= buy.min() < -2.9
    assert 3.9 < sell.max() <= 4.0


def test_shared_rewards_average_the_customers() -> None:
    own, shared = (Tariffs(prices_differ=differ).candidate_models() for differ in (True, False))
    np.testing.assert_array_equal(own.P, shared.P)
    np.testing.assert_allclose(shared.R, np.broadcast_to(own.R.mean(0), own.R.shape), atol=1e-12)
    assert own.R.std(0).max() > 0.5
