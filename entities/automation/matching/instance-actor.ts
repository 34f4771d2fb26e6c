/** Begins the reason of the system callers of instances. */
const prefix = 'workflow ';

const actorForm = new RegExp(`^system:${prefix}(\\w{26})$`);

/** Reason of the system caller of an instance. Nobody else can have it, so history and events show which instance made a change. */
export function reasonOfInstance(instanceId: string): string {
  return `${prefix}${instanceId}`;
}

/** Id of the instance of an actor, if it is one. */
export function instanceOfActor(actor: string): string | undefined {
  return actorForm.exec(actor)?.[1];
}
