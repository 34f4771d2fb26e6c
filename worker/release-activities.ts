import type { ActivityDependencies, ActivityMap } from '#activities/kit/activity-dependencies.ts';
import { sourceModules, type SourceModule } from '#entities/kit/base/source-modules.ts';

const areas = await sourceModules('activities', '-activities.ts');

/** Every activity of this release: those of each `activities/<area>/<name>-activities.ts`. */
export function createActivities(dependencies: ActivityDependencies): ActivityMap {
  return activitiesOf(areas, dependencies);
}

/**
 * Calls the `create<Name>Activities` of each module.
 * @throws TypeError when a module exports no such function or several, or when two modules have an activity of the same name
 */
export function activitiesOf(modules: readonly SourceModule[], dependencies: ActivityDependencies): ActivityMap {
  const activities: Record<string, ActivityMap[string]> = {};
  for (const { path, exports } of modules) {
    const [create, ...others] = Object.entries(exports).flatMap(([name, value]) =>
      /^create\w+Activities$/.test(name) ? [value as (given: ActivityDependencies) => ActivityMap] : [],
    );
    if (!create || others.length > 0) throw new TypeError(`${path} must export one function create<Name>Activities`);
    for (const [name, activity] of Object.entries(create(dependencies))) {
      if (Object.hasOwn(activities, name)) throw new TypeError(`${path}: there is another activity "${name}"`);
      activities[name] = activity;
    }
  }
  return activities;
}
