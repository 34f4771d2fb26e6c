 export default { test: { include: ['test/config/**/*.test.ts'], pool: 'forks', maxWorkers: 1, testTimeout: 100000 } };
