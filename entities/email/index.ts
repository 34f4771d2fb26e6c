export { accountEmail } from './account-email.ts';
export { email } from './email.ts';
