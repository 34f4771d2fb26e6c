import { afterAll } from 'vitest';
import type {
  CelEnvironment,
  CelEvaluator,
  CelItem,
  CelLimits,
  CelResult,
} from '#activities/clients/cel/cel-contract.ts';
import { createCelEvaluator } from '#activities/clients/cel/create-cel-evaluator.ts';
import { celLimits } from '../../kit/automation/cel-limits.ts';

/** A task before and after a change, as a trigger sees it. */
export const taskEnvironment: CelEnvironment = {
  variables: {
    object: 'Task',
    old_object: 'Task?',
    changed_fields: 'list<string>',
    added_ids: 'map<string, list<string>>',
    proposed_changes: 'map<string, dyn>',
    event_time: 'timestamp',
  },
  objects: {
    Task: {
      status: 'string',
      title: 'string?',
      due: 'timestamp?',
      tags: 'list<string>',
      score: 'int',
      weight: 'double',
      assignee: 'Person?',
      'short-name': 'string',
    },
    Person: { name: 'string', age: 'int' },
  },
};

const task = {
  status: 'OPEN',
  title: null,
  due: null,
  tags: ['red', 'blue'],
  score: 5,
  weight: 1.5,
  assignee: null,
  'short-name': 'T-1',
  // Not declared: no expression finds it.
  secret: 'hidden',
};

export const taskVariables: CelItem['variables'] = {
  object: task,
  old_object: null,
  changed_fields: ['status'],
  added_ids: { controls: ['c1'] },
  proposed_changes: { status: 'COMPLETED' },
  event_time: '2026-01-31T09:00:00Z',
};

export interface OpenedEvaluator extends CelEvaluator {
  /** What `compile` says of an expression about a task. */
  problems(expression: string): Promise<{ readonly code: string; readonly at: string; readonly message: string }[]>;
  /** The result of an expression about a task. */
  result(expression: string, variables?: CelItem['variables'], environment?: CelEnvironment): Promise<CelResult>;
  /** Its value, or the code of its error. */
  outcome(expression: string, variables?: CelItem['variables'], environment?: CelEnvironment): Promise<unknown>;
}

/** An evaluator for one test file. @param limits in place of the defaults */
export function openEvaluator(limits: Partial<CelLimits> = {}, options?: Parameters<typeof createCelEvaluator>[1]) {
  return openedEvaluator(createCelEvaluator({ current: configured(limits) }, options));
}

type Current = Parameters<typeof createCelEvaluator>[0]['current'];

function configured(limits: Partial<CelLimits>): Current {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the evaluator reads this part only
  return { workflows: { cel: { ...celLimits, ...limits } } } as Current;
}

/** @param evaluator is closed after the tests of the file */
export function openedEvaluator(evaluator: CelEvaluator): OpenedEvaluator {
  afterAll(() => evaluator.close());
  const result: OpenedEvaluator['result'] = async (
    expression,
    variables = taskVariables,
    environment = taskEnvironment,
  ) => {
    const [only] = await evaluator.evaluate({ environment, items: [{ expression, variables }] });
    if (only === undefined) throw new Error('no result');
    return only;
  };
  return {
    compile: (request) => evaluator.compile(request),
    evaluate: (batch) => evaluator.evaluate(batch),
    close: () => evaluator.close(),
    result,
    outcome: async (...of) => {
      const found = await result(...of);
      return 'value' in found ? found.value : found.error.code;
    },
    problems: async (expression) => {
      const { problems } = await evaluator.compile({ expression, environment: taskEnvironment });
      return problems.map(({ code, start, end, message }) => ({ code, at: expression.slice(start, end), message }));
    },
  };
}
