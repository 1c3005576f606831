"""PyTorch's scaled_dot_product_attention. Speaks worker.h's protocol."""

from torch_worker import floats, serve, torch


def contender(task):
    torch.set_grad_enabled(False)
    if task.get("form", "softmax") != "softmax":
        raise ValueError("computes softmax alone")
    heads, shared, dim = task["heads"], task["kv_heads"], task["dim"]
    query = floats(task, "query", heads, task["queries"], dim).unsqueeze(0)
    key, value = (
        floats(task, name, shared, task["keys"], columns).unsqueeze(0)
        for name, columns in (("key", dim), ("value", task.get("value_dim", dim)))
    )
    if task["kv"] == "bf16":  # its kernels take all in one type
        query, key, value = (array.bfloat16() for array in (query, key, value))
    attend = torch.nn.functional.scaled_dot_product_attention
    causal, grouped = bool(task["causal"]), shared != heads
    return lambda: attend(query, key, value, is_causal=causal, enable_gqa=grouped)


def write_out(task, out):
    out.float().contiguous().numpy().tofile(task["out"])


serve(contender, "scaled_dot_product_attention", write_out)
