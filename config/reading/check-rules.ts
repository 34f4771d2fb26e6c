import { authRules } from '../objects/auth/auth-rules.ts';
import { integrationRules } from '../objects/integration-rules.ts';
import { jobqueueRules } from '../objects/jobqueue/jobqueue-rules.ts';
import { leafByPath, valueAt } from '../objects/leaf.ts';
import { Loading } from './loading.ts';
import type { Problem } from '../schema/config-problem.ts';
import type { Config } from '../objects/root.ts';
import type { Rule } from '../objects/rule.ts';
import { serverRules } from '../objects/server/server-rules.ts';

const rules: readonly Rule[] = [...serverRules, ...authRules, ...jobqueueRules, ...integrationRules];

/** Reports every rule that a configuration breaks, unless a field that the rule uses was already rejected. */
export function checkRules(config: Config, loading: Loading): void {
  for (const rule of rules) {
    rule(config, (path, reason, remedy, also = []) => {
      if ([path, ...also].some((each) => loading.isInvalid(each))) return;
      const leaf = leafByPath.get(path);
      const isWhole = leaf === undefined || leaf.field.type === 'list' || leaf.field.type === 'map';
      loading.reportField(path, reason, remedy, isWhole ? undefined : valueAt(config, leaf.keys));
    });
  }
}

/** The rules that a configuration of valid fields breaks. Used for a reload in which some fields keep their running values. */
export function brokenRules(config: Config): readonly Problem[] {
  const loading = new Loading('the running configuration');
  checkRules(config, loading);
  return loading.problems;
}
