import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { TestProject } from 'vitest/node';
import type { Depth } from '../kit/depth.ts';
import { takeRunSlot } from './run-slot.ts';
import { prepareTestStack, type TestStack } from './test-stack.ts';

declare module 'vitest' {
  interface ProvidedContext {
    stack: TestStack;
    depth: Depth;
    /** All random numbers of the run follow from it. */
    seed: number;
    /** Kinds that `TEST_KINDS` names; none stands for all. */
    kinds: readonly string[];
  }
}

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Brings up one real stack for the whole run, beside those of other runs, and a migrated template database in it. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const slot = await takeRunSlot(join(root, '.local'));
  try {
    const stop = await bringUp(project, slot.stateDir);
    return async () => {
      await stop();
      await slot.release();
    };
  } catch (error) {
    await slot.release();
    throw error;
  }
}

async function bringUp(project: TestProject, stateDir: string): Promise<() => Promise<void>> {
  const startedAt = Date.now();
  const { stack, servers } = await prepareTestStack(stateDir, (line) => console.log(`stack: ${line}`));
  project.provide('stack', stack);
  console.log(`stack: ready in ${Date.now() - startedAt} ms`);
  return () => servers.stop();
}
