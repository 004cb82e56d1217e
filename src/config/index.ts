export type { AccountConfig, InventoryConfig, LocalAccount } from './accounts.ts';
export { holidaysOf, parseCalendar } from './calendar-settings.ts';
export { clientFor, withWorkspaceToken } from './client-for.ts';
export { type Config, type LocalConfig, loadConfig, loadReadable, parseConfig, usualFreshnessHours } from './config.ts';
export type { CurrencySettings } from './currency-settings.ts';
export { type EngineSettings, engineFile } from './engine-settings.ts';
export { umaskOf } from './file-mode.ts';
export { keepConfiguredSecrets } from './known-secrets.ts';
export { type Environment, expand } from './references.ts';
export { readToken, type TokenSource } from './secrets.ts';
export { everyGroup, type OidcSettings, type ServeSettings } from './serve-settings.ts';
export { alertSinksOf, incidentSinksOf, type Sink, summarySinksOf } from './sink-settings.ts';
export {
  type Destination,
  folderOf,
  isStoreAddress,
  parseDestination,
  type StorageSettings,
} from './storage-settings.ts';
export type { Subscription, SubscriptionPeriod } from './subscription-settings.ts';
