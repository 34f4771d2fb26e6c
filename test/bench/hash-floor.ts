import { hashPassword, verifyPassword } from '#api/auth/password.ts';

/** Verifies passwords and does nothing else, as many at a time as a process of the product does. */
process.on('message', ({ forMs }: { readonly forMs: number }) => {
  void run(forMs).then((result) => process.send?.(result));
});

const password = 'correct horse battery staple';
const clients = 16;

async function run(forMs: number): Promise<{ readonly perSecond: number }> {
  const hash = await hashPassword(password);
  const startedAt = performance.now();
  let count = 0;
  const oneClient = async () => {
    while (performance.now() < startedAt + forMs) {
      if (!(await verifyPassword(password, hash))) throw new Error('the password is right');
      count++;
    }
  };
  await Promise.all(Array.from({ length: clients }, oneClient));
  return { perSecond: count / ((performance.now() - startedAt) / 1_000) };
}
