"""A training step of the reasoning lab's decoder (bench/labs/nn/model.h) in PyTorch: softmax attention by
scaled_dot_product_attention, AdamW in one call for all weights. Speaks worker.h's protocol."""

import math

from torch_worker import serve, torch

nn = torch.nn
attend = nn.functional.scaled_dot_product_attention


def gelu(x):
    return nn.functional.gelu(x, approximate="tanh")


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.attend_norm, self.feed_norm = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        batch, length, width = x.shape
        qkv = self.qkv(self.attend_norm(x)).view(batch, length, 3, self.heads, -1)
        q, k, v = qkv.permute(2, 0, 3, 1, 4)
        attended = attend(q, k, v, is_causal=True).transpose(1, 2).reshape(batch, length, width)
        h = x + self.out(attended)
        return h + self.down(gelu(self.up(self.feed_norm(h))))


class Decoder(nn.Module):
    def __init__(self, vocabulary, length, width, heads, layers):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, width)
        self.register_buffer("positions", positions(length, width))
        self.first, self.last = nn.LayerNorm(width), nn.LayerNorm(width)
        self.blocks = nn.Sequential(*(Block(width, heads) for _ in range(layers)))
        self.head = nn.Linear(width, vocabulary)

    def forward(self, tokens):
        x = self.first(self.embedding(tokens) + self.positions)
        return self.head(self.last(self.blocks(x)))


def positions(length, width):
    angles = torch.arange(length)[:, None] * torch.exp(
        torch.arange(0, width, 2) * (-math.log(10000.0) / width)
    )
    return torch.stack((angles.sin(), angles.cos()), -1).flatten(1)


def contender(task):
    torch.manual_seed(0)
    vocabulary, length = task["vocabulary"], task["length"]
    model = Decoder(vocabulary, length, task["width"], task["heads"], task["layers"])
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, weight_decay=0.01, fused=True)
    tokens, targets = torch.randint(vocabulary, (2, task["batch"], length))

    def step():
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(tokens).flatten(0, 1), targets.flatten())
        loss.backward()
        optimizer.step()

    return step


serve(contender, "its training step")
