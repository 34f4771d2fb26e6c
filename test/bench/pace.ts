/**
 * How long duels take: eight rounds of four seconds for each side. `BENCH_ROUNDS` and `BENCH_SECONDS` shorten them while
 * something is being tried; figures that are told come from whole ones.
 */
export const pace = {
  rounds: Number(process.env['BENCH_ROUNDS'] ?? 8),
  roundMs: Number(process.env['BENCH_SECONDS'] ?? 4) * 1_000,
  warmUpMs: Number(process.env['BENCH_SECONDS'] ?? 4) * 1_500,
} as const;
