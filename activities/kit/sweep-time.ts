import type { ActivityDependencies } from './activity-dependencies.ts';

/** The present time of sweeps: the clock, or `jobqueue.queueconf.Test.Time`. */
export function sweepTime({ config, database }: Pick<ActivityDependencies, 'config' | 'database'>): Date {
  const { Time } = config.current.jobqueue.queueconf.Test;
  return Time === '' ? database.options.clock.now() : new Date(Time);
}
