"""Train Rill. The constants below are the configuration; an environment variable of the same name
overrides each:

    MINUTES=9 OUT=runs/a python -m pretraining.train              # one run
    MINUTES=9 INIT=runs/a OUT=runs/b python -m pretraining.train  # go on from its checkpoint
    SMOKE=1 python -m pretraining.train                           # a toy on the CPU, two minutes

Every step's data depend on the seed and the step's number alone, so a run continued from a
checkpoint sees what the uninterrupted run would have seen.
"""

from __future__ import annotations

import json
import os
import time
from contextlib import nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from pretraining.draws import Draws
from pretraining.episodes import Attention, Loss, loss_of, on_policy, prepare, score
from pretraining.model import SMALL, DenseAttention, Gated, Layer, Rill, Shape
from pretraining.muon import Muon
from pretraining.prior import sample
from pretraining.retention import draw_plan, random_lifetimes, time_jumps
from torch import Tensor

from pretraining import checkpoint, episodes, export


def setting(name: str, default: Any) -> Any:
    """A constant, or the environment variable of its name."""
    text = os.environ.get(name)
    return default if text is None else type(default)(text)


CUDA = torch.cuda.is_available()
SMOKE = setting("SMOKE", 0)  # 1: a toy, a minute on a CPU; asserts that the loss falls
DEVICE = setting("DEVICE", "cuda" if CUDA else "cpu")
SHAPE = setting("SHAPE", "full" if CUDA else "small")  # full | small, or JSON of changed fields
MINUTES = setting("MINUTES", 9.0 if CUDA else 30.0)  # the run's time box
STEPS = setting("STEPS", 0)  # when set, ends the run and paces the schedule instead of MINUTES
COMPILE = setting("COMPILE", int(CUDA))
STREAMS = setting("STREAMS", 128 if CUDA else 8)  # a step's batch, at the shortest length
ROWS = setting("ROWS", "1024" if CUDA else "512")  # lengths, in turn by step; each compiles anew
BLOCK = setting("BLOCK", 128 if CUDA else 32)  # rows at once in the policies' simulation
WIDTHS = setting("WIDTHS", "16,32,32,32,64,64,128" if CUDA else "8,16,32,64")  # columns, at random
CLASSES = setting("CLASSES", "10,16,16,64" if CUDA else "10,10,10,64")  # most classes, at random
CURATED = setting("CURATED", 0.4)  # share of steps on contexts curated by the model's entropy
BANKED = setting("BANKED", 0.2)  # share of steps on other two-bank contexts
LARGEST = setting("LARGEST", 1000)  # largest budget: sequences of few budgets hardly fill banks
MUON_LR = setting("MUON_LR", 0.02)
ADAM_LR = setting("ADAM_LR", 2e-3)
DECAY = setting("DECAY", 0.02)  # weight decay
WARMUP = setting("WARMUP", 100)  # steps
COOLDOWN = setting("COOLDOWN", 0.5)  # share of the run in which the rate falls; 0: it does not
EMA = setting("EMA", 0.999)
SEED = setting("SEED", 0)
OUT = setting("OUT", "runs/rill")
INIT = setting("INIT", "")  # folder of a checkpoint, or of weights alone, to go on from
SAVE_EVERY = setting("SAVE_EVERY", 3.0)  # minutes
CHECK_EVERY = setting("CHECK_EVERY", 4.0 if CUDA else 15.0)  # minutes between validations; 0: none
PRINT_EVERY = setting("PRINT_EVERY", 5.0)  # seconds
ATTENTION = setting("ATTENTION", "window" if CUDA else "dense")
THREADS = setting("THREADS", 1)  # on a CPU
BF16 = setting("BF16", 0)  # 1: bfloat16 on a CPU too
NOTE = setting("NOTE", "")  # the hypothesis, for the log


def shape_of(name: str) -> Shape:
    if name in ("full", "small"):
        return Shape() if name == "full" else SMALL
    return Shape(**json.loads(name))


class Trainer:
    """The model, its optimisers and averages, and the step's number: all that a checkpoint holds."""

    def __init__(self, shape: Shape, device: str, seed: int, attention: Attention) -> None:
        torch.manual_seed(seed)
        self.device, self.seed, self.attention = torch.device(device), seed, attention
        self.model = Rill(shape).to(self.device)
        named = dict(self.model.named_parameters())
        matrices = {
            k
            for k, p in named.items()
            if p.ndim == 2 and k.startswith(("layers", "row", "votes")) and k.endswith("weight")
        }
        self.muon = Muon([named[k] for k in named if k in matrices], momentum=0.95, decay=DECAY)
        self.adam = torch.optim.AdamW(
            [p for k, p in named.items() if k not in matrices],
            betas=(0.9, 0.98),
            weight_decay=DECAY,
        )
        self.average = {k: v.detach().clone() for k, v in self.model.state_dict().items()}
        self.step = 0
        self.fresh = 0  # the step at which the optimisers began: the rate warms up from there
        self.seconds = 0.0  # trained in all, over continued runs

    def autocast(self) -> Any:
        if self.device.type == "cuda":
            return torch.autocast("cuda", dtype=torch.bfloat16)
        if BF16:
            return torch.autocast("cpu", dtype=torch.bfloat16)
        return nullcontext()

    def episode_loss(self) -> Loss:
        """The loss on this step's streams."""
        draw = Draws(self.seed * 1_000_003 + self.step, self.device)

        def pick(text: str) -> int:
            options = text.split(",")
            return int(options[int(draw.number(0, len(options)))])

        lengths = [int(x) for x in ROWS.split(",")]
        n, F, C = lengths[self.step % len(lengths)], pick(WIDTHS), pick(CLASSES)
        B = max(1, STREAMS * min(lengths) // n)
        streams = sample(int(draw.number(0, 2**31 - 1)), B, n, F, C, self.device)
        shape = self.model.shape
        with self.autocast():
            e = prepare(streams, draw, shape.slots, shape.codes, C)
        # A step's lanes run plain windows, or two banks with DualFIFO, or mostly CURE.
        u = draw.number(0, 1)
        cure, dual = (
            (0.7, 0.15) if u < CURATED else (0.0, 0.6) if u < CURATED + BANKED else (0.0, 0.0)
        )
        lanes = draw_plan(draw, B, cure, dual, min(LARGEST, n))
        with self.autocast():
            kept = on_policy(self.model, e, lanes, self.attention, BLOCK)
            random_lifetimes(draw, kept, lanes)
            time_jumps(draw, kept, lanes)
            scores, count = score(self.model, e, kept, self.attention)
        return loss_of(scores, count, e.label)

    def advance(self, rate: float) -> dict[str, float | Tensor]:
        """One step at a share `rate` of the learning rates; what to report."""
        loss = self.episode_loss()
        loss.value.backward()  # type: ignore[no-untyped-call]
        norm = torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.muon.step(MUON_LR * rate)
        for group in self.adam.param_groups:
            group["lr"] = ADAM_LR * rate
        self.adam.step()
        self.model.zero_grad(set_to_none=True)
        keep = min(EMA, (self.step + 1) / (self.step + 20))
        state = self.model.state_dict()
        torch._foreach_lerp_(
            list(self.average.values()), [state[k] for k in self.average], 1 - keep
        )
        self.step += 1
        return {
            "loss": loss.value.detach(),
            "accuracy": loss.accuracy,
            "absent": loss.absent / (loss.rows + loss.absent).clamp(min=1),
            "norm": norm,
        }

    def averaged(self) -> Rill:
        """A model with the averaged weights, for validation."""
        model = Rill(self.model.shape).to(self.device)
        model.load_state_dict(self.average)
        return model.eval()

    def save(self, folder: Path, log: list[Any]) -> None:
        tensors = {f"model/{k}": v for k, v in self.model.state_dict().items()}
        tensors |= {f"muon/{i}": b for i, b in enumerate(self.muon.buffers)}
        for i, state in self.adam.state_dict()["state"].items():
            tensors |= {f"adam/{i}/{k}": v for k, v in state.items()}
        facts = {
            "step": self.step,
            "fresh": self.fresh,
            "seconds": self.seconds,
            "seed": self.seed,
            "shape": asdict(self.model.shape),
            "log": log,
        }
        provenance = {k: v for k, v in facts.items() if k in ("step", "seconds", "seed")}
        provenance |= {
            "data": "synthetic only",
            "torch": torch.__version__,
            "device": device_name(),
        }
        export.write(folder / "weights.npz", self.average, self.model.shape, provenance)
        checkpoint.save(folder, tensors, facts)

    def load(self, folder: Path) -> list[Any]:
        """Go on from a checkpoint; from a weights file alone, with the optimisers afresh."""
        if not (folder / "state.json").exists():
            arrays, header = export.read(folder / "weights.npz")
            self.model.load_state_dict({k: torch.from_numpy(v).float() for k, v in arrays.items()})
            self.average = {k: v.detach().clone() for k, v in self.model.state_dict().items()}
            made = header["provenance"]
            self.step, self.seconds, self.seed = made["step"], made["seconds"], made["seed"]
            self.fresh = self.step
            return []
        tensors, facts = checkpoint.load(folder)

        def part(name: str) -> dict[str, Tensor]:
            return {k.removeprefix(name): v for k, v in tensors.items() if k.startswith(name)}

        self.model.load_state_dict(part("model/"))
        arrays, _ = export.read(folder / "weights.npz")
        for name, array in arrays.items():
            self.average[name].copy_(torch.from_numpy(array))
        for i, v in part("muon/").items():
            self.muon.buffers[int(i)].copy_(v)
        adam = self.adam.state_dict()
        adam["state"] = {}
        for k, v in part("adam/").items():
            i, name = k.split("/")
            adam["state"].setdefault(int(i), {})[name] = v
        self.adam.load_state_dict(adam)
        self.step, self.seconds, self.seed = facts["step"], facts["seconds"], facts["seed"]
        self.fresh = facts["fresh"]
        log: list[Any] = facts["log"]
        return log


def device_name() -> str:
    return torch.cuda.get_device_name() if CUDA else "cpu"


def attention_of(name: str) -> Attention:
    if name == "dense":
        return DenseAttention
    from pretraining.window_attention import WindowAttention

    return WindowAttention


def compile_parts() -> None:
    """Fuse what runs between attentions; the layers share the compiled code."""
    torch._dynamo.config.cache_size_limit = 64
    Layer.project = torch.compile(Layer.project)  # type: ignore[method-assign]
    Layer.finish = torch.compile(Layer.finish)  # type: ignore[method-assign]
    Gated.forward = torch.compile(Gated.forward)  # type: ignore[method-assign]
    episodes.expand = torch.compile(episodes.expand)


def rate_at(step: int, done: float) -> float:
    """Warm up by steps of the optimisers, hold, then fall linearly over the last COOLDOWN of the run."""
    rise: float = min(1.0, (step + 1) / WARMUP)
    fall: float = 1.0 if COOLDOWN == 0 else min(1.0, max(0.02, (1 - done) / COOLDOWN))
    return rise * fall


def main() -> None:
    torch.set_float32_matmul_precision("high")
    if DEVICE == "cpu":
        torch.set_num_threads(THREADS)
    if COMPILE:
        compile_parts()
    trainer = Trainer(shape_of(SHAPE), DEVICE, SEED, attention_of(ATTENTION))
    log: list[Any] = trainer.load(Path(INIT)) if INIT else []
    size = sum(p.numel() for p in trainer.model.parameters())
    settings = {
        k: v for k, v in globals().items() if k.isupper() and isinstance(v, (int, float, str))
    }
    log.append({"run": settings, "device": device_name(), "parameters": size})
    print(f"{size:,} parameters, {device_name()}, from step {trainer.step}", flush=True)
    if ATTENTION == "window":
        probe(trainer)
    start = said = saved = checked = time.perf_counter()
    before, first = trainer.seconds, trainer.step
    window: list[dict[str, float | Tensor]] = []

    def report() -> None:
        mean = {
            k: float(torch.stack([torch.as_tensor(w[k]) for w in window]).float().mean())
            for k in window[0]
        }
        rate = len(window) / (time.perf_counter() - said)
        line = {
            "step": trainer.step,
            "minutes": round(trainer.seconds / 60, 3),
            **mean,
            "rate": rate,
        }
        log.append({k: float(f"{v:.5g}") for k, v in line.items()})
        print(" ".join(f"{k} {v:.4g}" for k, v in line.items()), flush=True)
        window.clear()

    while True:
        now = time.perf_counter()
        trainer.seconds = before + now - start
        done = (trainer.step - first) / STEPS if STEPS else (now - start) / 60 / MINUTES
        if done >= 1:
            break
        window.append(trainer.advance(rate_at(trainer.step - trainer.fresh, done)))
        if now - said > PRINT_EVERY:
            report()
            said = time.perf_counter()
        if now - saved > SAVE_EVERY * 60:
            trainer.save(Path(OUT), log)
            saved = time.perf_counter()
        if CHECK_EVERY and now - checked > CHECK_EVERY * 60:
            log.append({"step": trainer.step, "validation": check(trainer)})
            checked = time.perf_counter()
    if window:
        report()
    if CHECK_EVERY:
        log.append({"step": trainer.step, "validation": check(trainer)})
    trainer.save(Path(OUT), log)
    (Path(OUT) / "log.json").write_text(json.dumps(log, indent=1))


def check(trainer: Trainer) -> dict[str, Any]:
    """The held-out synthetic families, at the shapes that training has compiled for."""
    from pretraining.validation import synthetic_report

    streams, n = (STREAMS, int(ROWS.split(",")[0])) if trainer.device.type == "cuda" else (6, 512)
    with trainer.autocast():
        found = synthetic_report(trainer.averaged(), trainer.device, trainer.attention, streams, n)
    print("validation", json.dumps(found), flush=True)
    return found


def probe(trainer: Trainer) -> None:
    """Fall back on dense attention where the kernels do not build: a run is worth more."""
    try:
        trainer.episode_loss().value.backward()  # type: ignore[no-untyped-call]
    except Exception as error:
        print(f"window attention failed, going on with dense: {error!r}"[:2000], flush=True)
        trainer.attention = DenseAttention
    trainer.model.zero_grad(set_to_none=True)


if __name__ == "__main__":
    if SMOKE:
        from pretraining.smoke import main as smoke

        smoke()
    else:
        main()
