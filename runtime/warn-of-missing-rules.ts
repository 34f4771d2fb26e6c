import type { Logger } from 'pino';
import { kindsWithoutRules } from '#entities/kit/model/checks/kinds-without-rules.ts';
import type { Registry } from '#entities/kit/model/registry.ts';

/** Logs which kinds have no rules, if there are any. */
export function warnOfMissingRules(registry: Registry, logger: Logger): void {
  const kinds = kindsWithoutRules(registry);
  if (kinds.length > 0)
    logger.warn({ kinds }, 'kinds without rules: all their records can be read, and changes of them are dropped');
}
