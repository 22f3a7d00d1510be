import Model

// Help of the settings that `serve` passes to its processes.

extension CacheSetting {
    /// The help text of the option.
    var help: String {
        switch self {
        case .memoryLimit:
            "limit of the memory tier, such as 256M; at least 1M (a quarter of "
                + "the memory limit of the container or cgroup, 16M to 4G; 256M "
                + "without such a limit)"
        case .memoryEntries: "maximum entries of the memory tier (0: no limit)"
        case .diskLimit:
            "limit of the disk tier, such as 20G, including the index, its log "
                + "and quarantined indexes; at least 1M, or none (10G, or a tenth of "
                + "the file system if that is less)"
        case .diskEntries: "maximum entries of the disk tier (0: no limit)"
        case .maxAge:
            "age at which entries expire, such as 12h or 30d, or never (7d)"
        case .expireType:
            "date that determines age and eviction order: access (last use), "
                + "modification (stored), creation (first stored under its key) or "
                + "change (alias of modification) (access)"
        case .lowWater: "percentage of its limits to which a full tier is trimmed (50)"
        case .memoryCache: "cache entries in memory (yes)"
        case .diskCache: "cache entries on disk (yes)"
        case .diskFirstUse:
            "write images to disk on their first request; no: on the second "
                + "request or memory hit (yes)"
        case .writeBehind:
            "reply before images are written to disk (yes)"
        }
    }
}

extension DownloadSetting {
    /// The help text of the option.
    var help: String {
        switch self {
        case .connectTimeout: "timeout for resolving the name and connecting (10s)"
        case .transferTimeout: "timeout of a download, including redirects (5m)"
        case .lowSpeed: "minimum bytes per second of a transfer; 0: no minimum (1K)"
        case .lowSpeedTime: "time that a transfer may be slower than --low-speed (15s)"
        case .redirectLimit: "maximum redirects to follow (10)"
        case .continuationLimit:
            "maximum times an interrupted download is resumed (3; 0: never)"
        case .userAgent: "User-Agent, such as \"shop/2.1\" (Imagebus and its version)"
        case .acceptStatus: "HTTP statuses accepted as images, such as 200-299,404 (200-299)"
        case .acceptType:
            "accepted content types, such as image/*; responses without one are "
                + "accepted (all)"
        case .proxy:
            "proxy for all downloads: http://HOST:PORT or socks5h://HOST:PORT; "
                + "it resolves names and must refuse private addresses (none)"
        }
    }
}
