import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { StackError } from './stack-error.ts';

/**
 * The user that PostgreSQL runs as. PostgreSQL refuses to run as root. When started by root, it runs as an unprivileged
 * user of the machine or, when that user cannot access the files, as root in a user namespace under another name.
 */
export type PostgresUser =
  | { type: 'self' }
  | { type: 'switch'; name: string; uid: number; gid: number }
  | { type: 'namespace'; prefix: [command: string, ...args: string[]] };

/** Users to switch to, in order of preference. PostgreSQL requires a user with a name. */
const UNPRIVILEGED = ['postgres', 'nobody'];

/** Chooses a user for PostgreSQL that can access all `directories`. Throws a StackError when there is none. */
export function choosePostgresUser(directories: string[], ownUid = process.getuid?.()): PostgresUser {
  if (ownUid !== 0) return { type: 'self' };
  const user = unprivilegedUser();
  const closed = directories.find((directory) => !canEnter(directory, user));
  if (closed === undefined) return { type: 'switch', ...user };
  const prefix: [string, ...string[]] = ['unshare', '--user', `--map-user=${user.uid}`, `--map-group=${user.gid}`];
  if (spawnSync(prefix[0], [...prefix.slice(1), 'true']).status === 0) return { type: 'namespace', prefix };
  throw new StackError(
    `PostgreSQL does not run as root, and the user ${user.name} cannot access ${closed}: ` +
      'run as an ordinary user, or make that folder and its parents accessible for everybody (chmod a+x)',
  );
}

/** True when PostgreSQL can run from `directory` without a user namespace. */
export function canPostgresReach(directory: string, ownUid = process.getuid?.()): boolean {
  return ownUid !== 0 || canEnter(directory, unprivilegedUser());
}

function unprivilegedUser(): { name: string; uid: number; gid: number } {
  const users = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'));
  for (const name of UNPRIVILEGED) {
    const fields = users.find((user) => user[0] === name);
    const [uid, gid] = [Number(fields?.[2]), Number(fields?.[3])];
    if (uid > 0 && gid > 0) return { name, uid, gid };
  }
  throw new StackError('PostgreSQL does not run as root, and this machine has no user nobody: run as an ordinary user');
}

/** Asks the kernel, because it also evaluates access control lists. */
function canEnter(directory: string, user: { uid: number; gid: number }): boolean {
  const test = spawnSync('sh', ['-c', 'test -x "$1"', 'sh', directory], { uid: user.uid, gid: user.gid });
  return test.status === 0;
}
