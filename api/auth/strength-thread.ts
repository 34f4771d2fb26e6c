import { parentPort } from 'node:worker_threads';
import { ZxcvbnFactory } from '@zxcvbn-ts/core';
import * as common from '@zxcvbn-ts/language-common';
import * as english from '@zxcvbn-ts/language-en';

/** The program of the thread that judges passwords; `password-strength.ts` starts it and bounds the length of what it is sent. */
export interface EstimateRequest {
  readonly password: string;
  readonly personal: readonly string[];
}

export interface Estimate {
  /** 0 (too easy to guess) to 4. */
  readonly score: number;
  readonly warning: string | null;
}

const estimator = new ZxcvbnFactory({
  dictionary: { ...common.dictionary, ...english.dictionary },
  graphs: common.adjacencyGraphs,
  translations: english.translations,
});

parentPort?.on('message', ({ password, personal }: EstimateRequest) => {
  const { score, feedback } = estimator.check(password, [...personal]);
  parentPort?.postMessage({ score, warning: feedback.warning ?? null } satisfies Estimate);
});
