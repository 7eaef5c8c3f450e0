"""The base class of components makes a checked, frozen dataclass of each plain subclass."""

import dataclasses
import pickle
from abc import abstractmethod
from typing import Annotated, Any, ClassVar, Generic, TypeVar

import pytest
from pydantic.dataclasses import is_pydantic_dataclass

from pomrl.components import Component, Field, FieldError, field_validator, model_validator

T = TypeVar("T")


class Shape(Component):
    sides: ClassVar[int] = 0

    @abstractmethod
    def area(self) -> float: ...

    def scaled(self, by: float) -> float:
        return by * self.area()


class Rectangle(Shape):
    sides = 4

    width: float = Field(ge=0, description="its width")
    height: Annotated[float, Field(ge=0)] = 2.0

    @field_validator("width")
    @classmethod
    def _no_half(cls, width: float) -> float:
        if width == 0.5:
            raise ValueError("it is half")
        return width

    @model_validator(mode="after")
    def _no_square(self) -> "Rectangle":
        if self.width == self.height:
            raise ValueError("it is a square")
        return self

    def area(self) -> float:
        return self.width * self.height


class Block(Rectangle, Generic[T]):
    depth: int

    def area(self) -> float:
        return super().area() * self.depth


@pytest.mark.parametrize("component", [Rectangle(width=1.0), Block[int](width=1.0, depth=3)])
def test_it_is_a_frozen_value(component: Rectangle) -> None:
    assert is_pydantic_dataclass(type(component))
    same = pickle.loads(pickle.dumps(component))
    assert same == component == dataclasses.replace(component, height=2.0) == type(component)(**vars(component))
    assert hash(same) == hash(component)
    assert dataclasses.asdict(component) == vars(component)
    assert component != dataclasses.replace(component, height=3.0)
    for change in (lambda: setattr(component, "width", 3.0), lambda: delattr(component, "width")):
        with pytest.raises(dataclasses.FrozenInstanceError, match="field 'width'"):
            change()


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({}, r"^Rectangle\.width: Field required$"),
        ({"width": "a"}, r"^Rectangle\.width='a': Input should be a valid number$"),
        ({"width": -1.0}, r"^Rectangle\.width=-1\.0: Input should be greater than or equal to 0$"),
        ({"width": float("nan")}, r"^Rectangle\.width=nan: Input should be a finite number$"),
        ({"wdth": 1.0, "width": 1.0}, r"^Rectangle\.wdth=1\.0: Unexpected keyword argument$"),
        ({"width": 0.5}, "it is half$"),
        ({"width": 2.0}, "^Rectangle: it is a square$"),
    ],
)
def test_a_wrong_field_is_one_line(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(FieldError, match=message) as caught:
        Rectangle(**fields)
    assert "\n" not in str(caught.value)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


def test_an_init_of_its_own_is_refused() -> None:
    with pytest.raises(TypeError, match="Mine must not have an __init__; declare annotated fields instead"):

        class Mine(Shape):
            def __init__(self) -> None:
                pass
