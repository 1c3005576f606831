"""Linear attention in PyTorch as one writes it there: chunks of tokens, of which all is products of matrices.
Speaks worker.h's protocol."""

from torch_worker import floats, serve, torch

CHUNK = 64


def chunks(x):
    return x.view(x.shape[0], -1, CHUNK, x.shape[2])


def before(sums):
    """What the chunks before each come to."""
    return torch.cumsum(sums, 1) - sums


def phi(x):
    return torch.nn.functional.elu(x) + 1


def plain(q, k, v, normalised):
    """Rule linear, causal: the states before all chunks at once."""
    q, k, v = chunks(q), chunks(k), chunks(v)
    scores = torch.tril(q @ k.mT)
    out = torch.matmul(q, before(k.mT @ v)) + scores @ v
    if normalised:
        z = before(k.sum(2, keepdim=True))
        out = out / (scores.sum(3, keepdim=True) + (q * z).sum(3, keepdim=True))
    return out


def everything(q, k, v):
    """With all keys, elu1 and its normaliser."""
    return (q @ (k.mT @ v)) / (q @ k.sum(1).unsqueeze(2))


def gated(q, k, v, decay):
    """arXiv:2312.06635, Section 4."""
    q, k, v, decay = chunks(q), chunks(k), chunks(v), torch.cumsum(chunks(decay), 2)
    scores = torch.tril((q * decay.exp()) @ (k * (-decay).exp()).mT)
    last = decay[:, :, -1:]
    added = (k * (last - decay).exp()).mT @ v
    keeps = last.exp().mT
    state = torch.zeros_like(added[:, 0])
    states = []
    for i in range(added.shape[1]):
        states.append(state)
        state = keeps[:, i] * state + added[:, i]
    return (q * decay.exp()) @ torch.stack(states, 1) + scores @ v


def delta(q, k, v, beta):
    """arXiv:2406.06484, Section 3.2."""
    q, k, v, beta = chunks(q), chunks(k), chunks(v), chunks(beta)
    system = torch.tril(beta * (k @ k.mT), -1) + torch.eye(CHUNK)
    both = torch.linalg.solve_triangular(
        system, beta * torch.cat((k, v), 3), upper=False, unitriangular=True
    )
    w, u = both.split(k.shape[3], 3)
    scores = torch.tril(q @ k.mT)
    state = torch.zeros_like(k[:, 0].mT @ v[:, 0])
    out = []
    for i in range(k.shape[1]):
        found = u[:, i] - w[:, i] @ state
        out.append(q[:, i] @ state + scores[:, i] @ found)
        state = state + k[:, i].mT @ found
    return torch.stack(out, 1)


def contender(task):
    torch.set_grad_enabled(False)
    heads, keys, dim, form = task["heads"], task["keys"], task["dim"], task["form"]
    if keys % CHUNK or task["kv_heads"] != heads or task["stream"]:
        raise ValueError("written for whole chunks of tokens alone")
    q, k, v = (floats(task, name, heads, keys, dim) for name in ("query", "key", "value"))
    scale = dim**-0.5
    if form == "elu1" and task["causal"]:
        return lambda: plain(phi(q), phi(k), v, True)
    if form == "elu1":
        return lambda: everything(phi(q), phi(k), v)
    if form == "linear":
        return lambda: plain(scale * q, k, v, False)
    if form == "gated":
        decay = floats(task, "decay", heads, keys, dim)
        return lambda: gated(scale * q, k, v, decay)
    if form == "delta":
        beta = floats(task, "beta", heads, keys, 1)
        return lambda: delta(scale * q, k, v, beta)
    raise ValueError(f"no form {form}")


def write_out(task, out):
    out.reshape(task["heads"], task["keys"], task["dim"]).contiguous().numpy().tofile(task["out"])


serve(contender, f"chunks of {CHUNK}", write_out)
