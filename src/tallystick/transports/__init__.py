"""How messages travel: one package for each kind of cluster, all behind `messaging.ports`."""
