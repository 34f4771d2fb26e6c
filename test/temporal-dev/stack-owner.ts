import { startStack } from '#temporal-dev/stack/start-stack.ts';

/** Run as a process of its own: brings up a stack that belongs to it, and stays until it is killed. */
const [stateDir, ...without] = process.argv.slice(2);
await startStack({
  stateDir: stateDir ?? '',
  profile: 'development',
  redis: true,
  without: (['temporal', 'openfga'] as const).filter((name) => without.includes(name)),
  report: () => {},
});
console.log('ready');
setInterval(() => {}, 1_000_000);
