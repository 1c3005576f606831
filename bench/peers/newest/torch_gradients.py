"""Gradients of PyTorch's own scaled_dot_product_attention by its autograd. Speaks worker.h's protocol."""

from torch_worker import serve, torch


def contender(task):
    shape = (1, task["heads"], task["keys"], task["dim"])
    torch.manual_seed(0)
    q, k, v = (torch.randn(shape, requires_grad=True) for _ in range(3))
    out = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=task["causal"] == 1)
    change = torch.randn(shape)
    return lambda: torch.autograd.grad(out, (q, k, v), change, retain_graph=True)


serve(contender, "scaled_dot_product_attention and autograd")
