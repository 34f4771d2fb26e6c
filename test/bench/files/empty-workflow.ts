import { proxyActivities } from '@temporalio/workflow';

const { doNothing } = proxyActivities<{ doNothing(): Promise<void> }>({ startToCloseTimeout: '10 minutes' });

/** The least workflow that does something: the floor of those that have one activity. */
export async function emptyWorkflow(): Promise<void> {
  await doNothing();
}
