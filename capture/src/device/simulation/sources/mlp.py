"""The gated projection of a layer, tile by tile. Weights are loaded two tiles ahead."""

import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl

TILES, PAIRS, COLUMNS = 12, 8, 512


def mlp_kernel(hidden, weights):
    output = nl.ndarray((TILES, 128, COLUMNS), dtype=nl.bfloat16, buffer=nl.shared_hbm)
    scratch = nl.ndarray((128, COLUMNS), dtype=nl.bfloat16, buffer=nl.private_hbm)
    for tile in nl.static_range(TILES):
        ahead = nl.load(weights[tile + 2])
        rows = nl.load(hidden[tile // 4])
        sums = nl.zeros((PAIRS, 128, COLUMNS), dtype=nl.float32, buffer=nl.psum)
        for pair in nl.static_range(PAIRS):
            sums[pair] = nisa.nc_matmul(rows[pair], ahead[pair])
        gates = nisa.activation(nl.silu, sums)
        gated = nisa.tensor_tensor(gates, rows, op=nl.multiply)
        kept = nisa.iota(gated, dtype=nl.int32)
        if tile == 2:
            nl.store(scratch[0], kept)
        if tile == 5:
            kept = nl.load(scratch[0])
        nl.store(output[tile], kept)
    return output
