"""PyTorch modules as gradient functions for paceline.train."""

import numpy
import torch

__all__ = ["gradient_of", "initial_parameters", "load_parameters"]


def initial_parameters(module):
    """The module's parameters as one float32 vector, in the order of module.parameters()."""
    with torch.no_grad():
        return torch.nn.utils.parameters_to_vector(module.parameters()).float().numpy().copy()


def load_parameters(module, vector):
    """The other way round."""
    with torch.no_grad():
        vector = torch.from_numpy(numpy.array(vector, dtype=numpy.float32))
        torch.nn.utils.vector_to_parameters(vector, module.parameters())


def gradient_of(make_module, loss, inputs, targets):
    """A gradient function of the module that make_module() makes.

    Threads compute at the same time, so there are as many modules as calls at once.

    loss(outputs, targets) gives one loss per sample, as with reduction="none".
    """
    idle = []  # modules; not threading.local, which ends after what PyTorch keeps per thread

    def gradient(parameters, samples, weights):
        try:
            module = idle.pop()
        except IndexError:
            module = make_module()
        load_parameters(module, parameters)
        chosen = torch.from_numpy(samples.astype(numpy.int64))
        losses = loss(module(inputs[chosen]), targets[chosen])
        # One backward pass for a coded message: each sample's loss counts by its weight in the code.
        weighted = (losses * torch.from_numpy(weights)).sum()
        gradients = torch.autograd.grad(weighted, list(module.parameters()))
        flat = torch.cat([part.reshape(-1) for part in gradients])
        idle.append(module)
        return float(losses.detach().sum()), flat.numpy()

    return gradient
