export { openWarehouse, type Warehouse } from './warehouse.ts';
