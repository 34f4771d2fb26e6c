import { didYouMean } from '#entities/kit/base/did-you-mean.ts';
import { activityQueues } from './queueconf.ts';
import type { Rule } from '../rule.ts';

const base = 'jobqueue.queueconf';

const testRule: Rule = ({ server, jobqueue: { queueconf } }, refuse) => {
  if (server.dev) return;
  const remedy = 'remove it, or turn server.dev on';
  const refuseInProduction = (path: string) =>
    refuse(path, 'is for tests, but server.dev is off', remedy, ['server.dev']);
  if (queueconf.TestOnly) refuseInProduction(`${base}.TestOnly`);
  if (queueconf.Test.DisableUniqueEnforcement) refuseInProduction(`${base}.Test.DisableUniqueEnforcement`);
  if (queueconf.Test.Time !== '') refuseInProduction(`${base}.Test.Time`);
};

const queueRule: Rule = ({ jobqueue: { queueconf }, workflows }, refuse) => {
  const known: string[] = [...activityQueues, workflows.dispatch.queuename];
  for (const name of Object.keys(queueconf.Queues).filter((queue) => !known.includes(queue))) {
    const near = didYouMean(name, known);
    refuse(
      `${base}.Queues`,
      `names the queue ${name}, which does not exist`,
      near === undefined ? `known queues: ${known.join(', ')}` : `did you mean ${near}?`,
      ['workflows.dispatch.queuename'],
    );
  }
  if ((activityQueues as readonly string[]).includes(workflows.dispatch.queuename)) {
    refuse('workflows.dispatch.queuename', 'is the name of another queue', 'choose another name', []);
  }
};

const pollRule: Rule = ({ jobqueue: { queueconf } }, refuse) => {
  if (queueconf.FetchPollInterval < queueconf.FetchCooldown) {
    refuse(`${base}.FetchPollInterval`, `is shorter than ${base}.FetchCooldown`, 'make it longer', [
      `${base}.FetchCooldown`,
    ]);
  }
  const { initialinterval, maximuminterval } = queueconf.RetryPolicy;
  if (maximuminterval < initialinterval) {
    refuse(`${base}.RetryPolicy.maximuminterval`, 'is shorter than initialinterval', 'make it longer', [
      `${base}.RetryPolicy.initialinterval`,
    ]);
  }
};

const scheduleRule: Rule = ({ jobqueue: { queueconf } }, refuse) => {
  const seen = new Set<string>();
  for (const { name, workflow } of queueconf.PeriodicJobs) {
    if (seen.has(name)) refuse(`${base}.PeriodicJobs`, `has two schedules named ${name}`, 'give each its own name', []);
    seen.add(name);
    if (!queueconf.SkipJobKindValidation && !/^[a-z][A-Za-z0-9]{1,99}$/u.test(workflow)) {
      refuse(
        `${base}.PeriodicJobs`,
        `starts a workflow whose name is not of the form verbNoun (schedule ${name})`,
        `correct the name, or turn on ${base}.SkipJobKindValidation`,
        [`${base}.SkipJobKindValidation`],
      );
    }
  }
};

/** Requirements between fields of `jobqueue` and `workflows.dispatch`. */
export const jobqueueRules: readonly Rule[] = [testRule, queueRule, pollRule, scheduleRule];
