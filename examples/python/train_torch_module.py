"""Trains two PyTorch modules at once on eight workers, some of which are slow now and then."""

import torch

import paceline
import paceline.torch as bridge

torch.manual_seed(1)
torch.set_num_threads(1)  # workers are what runs in parallel
inputs = torch.randn(2000, 2)
targets = (inputs[:, 0] * inputs[:, 1] > 0).long()  # not linear in the inputs


def make_module(hidden):
    return torch.nn.Sequential(torch.nn.Linear(2, hidden), torch.nn.Tanh(), torch.nn.Linear(hidden, 2))


def loss(outputs, wanted):
    return torch.nn.functional.cross_entropy(outputs, wanted, reduction="none")


gradient = bridge.gradient_of(lambda: make_module(16), loss, inputs, targets)
run = paceline.train(
    [gradient, gradient],
    [bridge.initial_parameters(make_module(16)) for _ in range(2)],
    samples=len(inputs),
    batch=200,
    updates=60,
    workers=8,
    scheme="gc:s=2",
    optimizer="adam:lr=0.03",
    delays="bursty:base=0.002,slow=5,bad=0.05,good=0.4",
    verify=True,
)

trained = make_module(16)
bridge.load_parameters(trained, run.parameters[0])
accuracy = (trained(inputs).argmax(dim=1) == targets).float().mean().item()
print(f"{run.jobs} updates in {run.rounds} rounds, {run.mean_stragglers:.1f} stragglers per round")
print(f"loss {run.losses[0][0]:.2f} -> {run.losses[0][-1]:.2f}, accuracy {accuracy:.2f}, verify error {run.verify_error:.0e}")
assert accuracy > 0.9 and run.verify_error < 1e-5
