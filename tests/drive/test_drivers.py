"""What drivers promise programs: a request is never abandoned, a ring is never missed, the keeper goes on."""

from __future__ import annotations

import asyncio
import logging
from threading import Event, Thread

import pytest

from holdfast.client import Settings
from holdfast.client_tasks import AsyncClient
from holdfast.client_threads import Client
from holdfast.drive.tasks import AsyncDriver, TaskEar
from holdfast.drive.threads import Driver, ThreadEar
from holdfast.engine.keeper import Keeper
from holdfast.engine.program import FOREVER, TICKS, Pause, Send
from holdfast.errors import StoreError
from holdfast.stores.here import ApplyMany
from holdfast.stores.memory import AsyncMemoryTransport, MemoryTransport
from holdfast.url import parse


class Odd:
    """A transport that does what it is told to, and remembers."""

    def __init__(self, answer=None):
        self.answer = answer
        self.finished = []

    def send(self, request):
        if self.answer is not None:
            self.answer(request)
        self.finished.append(request)
        return request

    def listen(self, _bell):
        return None

    def close(self): ...

    def forget(self): ...


class AsyncOdd(Odd):
    async def send(self, request):
        if self.answer is not None:
            await self.answer(request)
        self.finished.append(request)
        return request

    async def close(self): ...


def conversation(heard):
    """A program that sends twice, and says what was thrown into it."""
    try:
        yield Send("one")
    except BaseException as error:
        heard.append(type(error).__name__)
        yield Send("clean up")
        raise
    heard.append("answered")
    return (yield TICKS) > 0


# --- threads ---------------------------------------------------------------------------------------------------------


def test_what_is_raised_while_sending_is_thrown_into_the_program():
    def interrupt(request):
        if request == "one":
            raise KeyboardInterrupt

    heard, transport = [], Odd(interrupt)
    with pytest.raises(KeyboardInterrupt):
        Driver(transport, Keeper()).run(conversation(heard))
    assert (heard, transport.finished) == (["KeyboardInterrupt"], ["clean up"])


def test_a_program_comes_to_its_value():
    assert Driver(Odd(), Keeper()).run(conversation([])) is True


def listener(ear, until=FOREVER):
    return (yield Pause(ear, until))


def test_a_ring_that_came_before_is_heard():
    driver, ear = Driver(Odd(), Keeper()), ThreadEar()
    driver.listen()
    ear.ring()
    ear.ring()
    assert driver.run(listener(ear)) is True
    assert driver.run(listener(ear, 0)) is False, "heard once"


def test_who_waits_is_rung_from_another_thread():
    driver, ear = Driver(Odd(), Keeper()), ThreadEar()
    driver.listen()
    Thread(target=ear.ring).start()
    assert driver.run(listener(ear)) is True


def test_who_waits_is_sent_away_when_the_client_closes():
    driver, outcome, begun = Driver(Odd(), Keeper()), [], Event()

    class Ear(ThreadEar):
        def wait(self, seconds):
            begun.set()
            super().wait(seconds)

    driver.listen()

    def wait():
        try:
            driver.run(listener(Ear()))
        except StoreError as error:
            outcome.append(str(error))

    thread = Thread(target=wait)
    thread.start()
    begun.wait(10)
    driver.dismiss()
    thread.join(10)
    assert outcome == ["this client was closed meanwhile: connect again"]


class Stumbling(MemoryTransport):
    """The first renewal meets a bug in a driver."""

    stumbled = None

    def at_once(self, request):
        if isinstance(request, ApplyMany) and not self.stumbled.is_set():
            self.stumbled.set()
            raise RuntimeError("a bug in a driver")
        return super().at_once(request)


def test_the_keeper_s_thread_survives_whatever_a_driver_raises(caplog):
    renewed = Event()

    def make(_backend, endpoint, keeper):
        transport = Stumbling(endpoint)
        transport.stumbled = Event()
        return Driver(transport, keeper)

    def hook(event):
        if type(event).__name__ == "Renewed":
            renewed.set()

    with (
        caplog.at_level(logging.ERROR, "holdfast"),
        Client(parse("memory:"), None, Settings(hooks=(hook,)), make) as locks,
    ):
        lease = locks.mutex("k", ttl=0.5).acquire()
        assert renewed.wait(20)
        lease.ensure()
    assert "the keeper stumbled, and goes on" in caplog.text


# --- asyncio ----------------------------------------------------------------------------------------------------------


def test_a_request_is_finished_before_the_task_is_cancelled():
    async def main():
        sent, go_on = asyncio.Event(), asyncio.Event()

        async def slowly(_request):
            sent.set()
            await go_on.wait()

        heard, transport = [], AsyncOdd(slowly)
        task = asyncio.create_task(AsyncDriver(transport, Keeper()).run(conversation(heard)))
        await sent.wait()
        for _ in range(3):
            task.cancel()
            await asyncio.sleep(0)
        assert not task.done()
        assert not heard
        go_on.set()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert (heard, transport.finished) == (["CancelledError"], ["one", "clean up"])

    asyncio.run(main())


def test_an_ear_of_asyncio_is_rung_from_any_thread_and_after_its_loop():
    async def main():
        ear = TaskEar()
        waiting = asyncio.create_task(ear.wait(60))
        await asyncio.sleep(0)
        await asyncio.to_thread(ear.ring)
        await waiting
        assert ear.rung
        ear._future = asyncio.get_running_loop().create_future()
        return ear

    ear = asyncio.run(main())
    thread = Thread(target=ear.ring)
    thread.start()
    thread.join()


class AsyncStumbling(AsyncMemoryTransport):
    stumbled = False

    def at_once(self, request):
        if isinstance(request, ApplyMany) and not self.stumbled:
            self.stumbled = True
            raise RuntimeError("a bug in a driver")
        return super().at_once(request)


def test_the_keeper_s_task_survives_whatever_a_driver_raises(caplog):
    async def main():
        renewed = asyncio.Event()

        def hook(event):
            if type(event).__name__ == "Renewed":
                renewed.set()

        def make(_backend, endpoint, keeper):
            return AsyncDriver(AsyncStumbling(endpoint), keeper)

        async with AsyncClient(parse("memory:"), None, Settings(hooks=(hook,)), make) as locks:
            lease = await locks.mutex("k", ttl=0.5).acquire()
            await asyncio.wait_for(renewed.wait(), 20)
            lease.ensure()

    with caplog.at_level(logging.ERROR, "holdfast"):
        asyncio.run(main())
    assert "the keeper stumbled, and goes on" in caplog.text
