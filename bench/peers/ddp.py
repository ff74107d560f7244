"""Synchronous data-parallel training by PyTorch's DistributedDataParallel on gloo:

    ddp.py PROFILE SLOPE WORKERS START DATA MODELS UPDATES BATCH

START is a folder of paceline_peer_start, with the initial parameters and the samples of every batch, so that the
updates are those of `paceline train`. A process joins the sum of round r no sooner than the profile's time of round r
after the round began, as a worker of `paceline train --profile PROFILE --slope SLOPE` answers. Prints a line of JSON.
"""
import json
import os
import sys
import time

import numpy as np
import torch
import torch.distributed as dist
from torch.distributed.algorithms.ddp_comm_hooks import default_hooks
from torch.nn import functional
from torch.nn.parallel import DistributedDataParallel


class SmallCnn(torch.nn.Module):
    """The network `small-cnn` (docs/training.md); its parameters have the same order."""

    def __init__(self):
        super().__init__()
        self.first = torch.nn.Conv2d(1, 8, 5)
        self.second = torch.nn.Conv2d(8, 16, 5)
        self.last = torch.nn.Linear(256, 10)

    def forward(self, x):
        x = functional.relu(functional.max_pool2d(self.first(x), 2))
        x = functional.relu(functional.max_pool2d(self.second(x), 2))
        return self.last(x.flatten(1))


def read_idx(path, header):
    return np.fromfile(path, dtype=np.uint8)[header:]


def read_mnist(folder):
    """Images of shape (samples, 1, 28, 28), shifted and scaled as `small-cnn` does it, and labels, of both parts."""
    images = [read_idx(f"{folder}/{part}-images-idx3-ubyte", 16) / np.float32(255) for part in ("train", "t10k")]
    first = images[0][: 1000 * 784].astype(np.float64)
    mean, deviation = np.float32(first.mean()), np.float32(1 / first.std())
    scaled = [torch.from_numpy(((x - mean) * deviation).reshape(-1, 1, 28, 28)) for x in images]
    labels = [torch.from_numpy(read_idx(f"{folder}/{part}-labels-idx1-ubyte", 8).astype(np.int64)) for part in ("train", "t10k")]
    return scaled, labels


class Due:
    """When this process may join the sum of the running round."""

    at = 0.0


def join_when_due(due, bucket):
    time.sleep(max(0.0, due.at - time.monotonic()))
    return default_hooks.allreduce_hook(None, bucket)


def make_models(start, models, due):
    flat = torch.from_numpy(np.fromfile(f"{start}/parameters.f32", dtype=np.float32)).view(models, -1)
    made = []
    for parameters in flat:
        network = SmallCnn()
        torch.nn.utils.vector_to_parameters(parameters.clone(), network.parameters())
        made.append(DistributedDataParallel(network))
        made[-1].register_comm_hook(due, join_when_due)
    return made


def train(rank, arguments):
    profile, slope, workers, start, data, models, updates, batch = arguments
    slope, workers, models, updates, batch = float(slope), int(workers), int(models), int(updates), int(batch)
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{start}/rendezvous", rank=rank, world_size=workers)
    delays = np.loadtxt(profile, delimiter=",", comments="#")
    (inputs, test_inputs), (labels, test_labels) = read_mnist(data)
    batches = np.fromfile(f"{start}/batches.i32", dtype=np.int32).reshape(models, updates, batch)
    due = Due()
    networks = make_models(start, models, due)
    optimizers = [torch.optim.Adam(network.parameters(), lr=0.01) for network in networks]
    last_loss = torch.zeros(models)

    dist.barrier()
    started = time.monotonic()
    for job in range(models * updates):
        begun = time.monotonic()
        model = job % models
        samples = torch.from_numpy(np.array_split(batches[model, job // models], workers)[rank].astype(np.int64))
        optimizers[model].zero_grad()
        loss = functional.cross_entropy(networks[model](inputs[samples]), labels[samples])
        due.at = begun + delays[job % len(delays), rank] + slope / workers
        loss.backward()
        optimizers[model].step()
        last_loss[model] = loss.detach()
    took = time.monotonic() - started

    dist.all_reduce(last_loss)
    if rank == 0:
        with torch.no_grad():
            right = [(network.module(test_inputs).argmax(1) == test_labels).double().mean() for network in networks]
        print(json.dumps({
            "name": "PyTorch DDP, gloo",
            "seconds_per_update": took / (models * updates),
            "accuracy": float(torch.stack(right).mean()),
            "loss": float(last_loss.mean()) / workers,
        }))
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
    torch.multiprocessing.spawn(train, args=(sys.argv[1:],), nprocs=int(sys.argv[3]))
