import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { createCelEvaluator } from '#activities/clients/cel/create-cel-evaluator.ts';
import type { CelLimits } from '#activities/clients/cel/cel-contract.ts';
import { celLimits } from '../kit/automation/cel-limits.ts';
import { pace } from './pace.ts';
import { median, spreadOf, type Bench } from './row.ts';

const timeoutMs = 100;

const limits: CelLimits = { ...celLimits, timeout: timeoutMs, costlimit: 1_000_000_000 };

const list = JSON.stringify(Array.from({ length: 200 }, (_, index) => index));
/** Would take minutes, and is ended by the clock that it reads, or by V8 where it reads none. */
const nested = `${list}.map(a, ${list}.map(b, ${list}.map(c, a * b * c + n))).size() > 0`;

/** Time beyond the timeout after which a hostile expression is refused, and the longest pause of the event loop meanwhile. */
export const celHostile: Bench = {
  name: 'cel-hostile',
  run: async (say) => {
    const environment = { variables: { n: 'int' } };
    const [over, lags]: [number[], number[]] = [[], []];
    for (let round = 0; round < pace.rounds; round++) {
      // Every second round, the clock is never read.
      const interruptcheckfrequency = round % 2 === 0 ? limits.interruptcheckfrequency : 1_000_000;
      const cel = { ...limits, interruptcheckfrequency };
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the evaluator reads this part only
      const evaluator = createCelEvaluator({ current: { workflows: { cel } } } as Parameters<
        typeof createCelEvaluator
      >[0]);
      const evaluate = () =>
        evaluator.evaluate({ environment, items: [{ expression: nested, variables: { n: round } }] });
      await evaluate();
      // The thread that stands by starts meanwhile.
      await pause(500);
      await evaluator.compile({ expression: nested, environment });
      const delay = monitorEventLoopDelay({ resolution: 1 });
      delay.enable();
      const startedAt = performance.now();
      const [result] = await evaluate();
      const took = performance.now() - startedAt - timeoutMs;
      delay.disable();
      if (!result || !('error' in result) || result.error.code !== 'timeout')
        throw new Error('cel-hostile: not refused');
      over.push(took);
      lags.push(delay.max / 1e6);
      say(`round ${round + 1}: ${took.toFixed(1)} ms over the timeout, loop lag ${(delay.max / 1e6).toFixed(1)} ms`);
      await evaluator.close();
    }
    const row = { unit: 'ms', reference: null, ratio: null };
    return [
      {
        ...row,
        name: 'cel-hostile',
        ours: median(over),
        spread: spreadOf(over),
        note: 'time over the timeout of 100 ms until a hostile expression is refused; aim: 10',
      },
      {
        ...row,
        name: 'cel-hostile-lag',
        ours: median(lags),
        spread: spreadOf(lags),
        note: 'longest pause of the event loop while it runs; aim: 20',
      },
    ];
  },
};
