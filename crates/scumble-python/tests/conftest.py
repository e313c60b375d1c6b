"""Tables and recipes that tests share."""

import random

import pytest

import scumble as sb

ILLNESSES = ["flu", "cough", "ulcer", "asthma"]


@pytest.fixture
def people() -> dict:
    """Two hundred people, always the same."""
    chance = random.Random(7)
    return {
        "id": list(range(200)),
        "age": [chance.randint(18, 90) for _ in range(200)],
        "sex": [chance.choice("fm") for _ in range(200)],
        "illness": [chance.choice(ILLNESSES) for _ in range(200)],
    }


@pytest.fixture
def recipe() -> sb.Recipe:
    return sb.Recipe(
        columns={
            "id": "identifier",
            "age": sb.quasi(type="number", hierarchy={"widths": [5, 10, 20, 40]}),
            "sex": "quasi",
            "illness": "sensitive",
        },
        promise={"k-anonymity": 5},
        method={"suppression": 0.05},
    )
