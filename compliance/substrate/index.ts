/** The SQL substrate as the kit sees it: read, installed, and compared object by object. */
export { installSubstrate, uninstallSubstrate } from './install.ts';
export { parseInstall, readInstall, type SqlFile } from './read.ts';
export { hashObjects, type CatalogObject } from './snapshot.ts';
