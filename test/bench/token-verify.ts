import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { jwtVerify } from 'jose';
import { AccessTokens } from '#api/auth/access-token.ts';
import { GeneratedKey } from '#api/auth/generated-key.ts';
import { KeyRing } from '#api/auth/key-ring.ts';
import { SignedTokens } from '#api/auth/signed-tokens.ts';
import { systemClock } from '#entities/kit/base/clock.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { createLogger } from '#runtime/logger.ts';
import { pace } from './pace.ts';
import { median, spreadOf, type Bench, type BenchRow } from './row.ts';

/** Tokens that are verified in turn: the callers of a busy process. */
const tokenCount = 1_000;

const settings = { issuer: 'https://api.test', audience: 'https://api.test', accessDurationMs: 3_600_000 };

/** Verifications of access tokens a second on one core: of tokens seen before, and of new ones. */
export const tokenVerify: Bench = {
  name: 'token-verify',
  run: async (say) => {
    const stateFolder = await mkdtemp(join(tmpdir(), 'core-bench-keys-'));
    const ring = await KeyRing.load({
      sources: [
        new GeneratedKey(
          () => 'bench',
          () => true,
          stateFolder,
        ),
      ],
      choice: () => ({ kid: 'bench', cacheTtlMs: 300_000 }),
      timeoutMs: 0,
      logger: createLogger('bench', { level: 'error' }),
    });
    try {
      const signed = new SignedTokens(ring, systemClock);
      const fresh = () => new AccessTokens(signed, () => settings, systemClock);
      const tokens = await issue(fresh());
      const warm = fresh();
      for (const token of tokens) await warm.verify(token);
      const { find } = ring.current;
      const measured = {
        'token-verify': () => perSecond(tokens, (token) => warm.verify(token)),
        'token-verify-first': () => {
          let cold = fresh();
          // None is seen twice by the same process.
          return perSecond(tokens, (token, index) => {
            if (index % tokenCount === 0) cold = fresh();
            return cold.verify(token);
          });
        },
        jose: () =>
          perSecond(tokens, (token) =>
            jwtVerify(token, find, { issuer: settings.issuer, audience: settings.audience, typ: 'at+jwt' }),
          ),
      };
      const rounds: Record<keyof typeof measured, number>[] = [];
      for (const measure of Object.values(measured)) await measure();
      for (let round = 0; round < pace.rounds; round++) {
        rounds.push({
          'token-verify': await measured['token-verify'](),
          'token-verify-first': await measured['token-verify-first'](),
          jose: await measured.jose(),
        });
        say(
          `round ${round + 1}: ${JSON.stringify(rounds.at(-1), (_, value) => (typeof value === 'number' ? Math.round(value) : value))}`,
        );
      }
      const row = (name: 'token-verify' | 'token-verify-first', note: string): BenchRow => ({
        name,
        unit: 'tokens/s',
        ours: median(rounds.map((round) => round[name])),
        reference: median(rounds.map(({ jose }) => jose)),
        ratio: median(rounds.map((round) => round[name] / round.jose)),
        spread: spreadOf(rounds.map((round) => round[name])),
        note,
      });
      return [
        row('token-verify', `${tokenCount} access tokens in turn, seen before; reference: jose, each time`),
        row('token-verify-first', 'access tokens at first sight; reference: jose'),
      ];
    } finally {
      ring.stop();
      await rm(stateFolder, { recursive: true, force: true });
    }
  },
};

async function issue(access: AccessTokens): Promise<string[]> {
  const endsAt = new Date(Date.now() + 3_600_000);
  const tokens: string[] = [];
  while (tokens.length < tokenCount) {
    const principal = { userId: newId(), organizationId: newId(), sessionId: newId() };
    tokens.push((await access.issue(principal, endsAt)).token);
  }
  return tokens;
}

async function perSecond(
  tokens: readonly string[],
  verify: (token: string, index: number) => Promise<unknown>,
): Promise<number> {
  const startedAt = performance.now();
  let index = 0;
  while (performance.now() < startedAt + pace.roundMs) {
    // Looks at the clock rarely.
    for (const until = index + 100; index < until; index++)
      await verify(tokens[index % tokens.length] as string, index);
  }
  return index / ((performance.now() - startedAt) / 1_000);
}
