"""Gradients of PyTorch's own scaled_dot_product_attention by its autograd, of arrays in .npy files. Speaks worker.h's
protocol; writes those of query, key and value one after the other."""

from torch_worker import numpy, serve, torch


def contender(task):
    q, k, v, change = (
        torch.from_numpy(numpy.load(task[name])).unsqueeze(0)
        for name in ("query", "key", "value", "change")
    )
    for array in (q, k, v):
        array.requires_grad_()
    out = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=task["causal"] == 1)
    return lambda: torch.autograd.grad(out, (q, k, v), change, retain_graph=True)


def write_out(task, gradients):
    torch.stack(gradients).numpy().tofile(task["out"])


serve(contender, "scaled_dot_product_attention and autograd", write_out)
