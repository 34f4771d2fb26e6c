import type { SerializedError, TestModule } from 'vitest/node';

/** Errors of loading a file and of its hooks. When a hook at the end fails, the tests of the file have passed. */
export function errorsOutsideTests(module: TestModule): readonly SerializedError[] {
  return [module, ...module.children.allSuites()].flatMap((suite) => suite.errors());
}
