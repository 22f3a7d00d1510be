import Configuration
import ImageModel
import Messages
import YAML

/// What was found out about a file so far.
struct Reading {
    /// What a name in one place of the file refers to in another.
    enum Kind: Hashable {
        case cache, preset, keyFilter, serializer, profile, loader, coder, downloadPool, cachePool

        var word: String {
            switch self {
            case .cache: "cache"
            case .preset: "preset"
            case .keyFilter: "key filter"
            case .serializer: "serializer"
            case .profile: "profile"
            case .loader: "loader"
            case .coder: "pool of kind decode"
            case .downloadPool: "foreign pool of kind download"
            case .cachePool: "foreign pool of kind cache"
            }
        }

        /// Where such names are given.
        func names(in configuration: Configuration) -> Set<String> {
            switch self {
            case .cache: configuration.caches.union([Configuration.defaultName])
            case .preset: Set(configuration.presets.keys)
            case .keyFilter: Set(configuration.keyFilters.keys)
            case .serializer: Set(configuration.serializers.keys)
            case .profile:
                Set(configuration.profiles.keys).union([Configuration.defaultName])
            case .loader: configuration.loaderNames
            case .coder: configuration.coderNames
            case .downloadPool: Set(configuration.loaderPools.map(\.name.text))
            case .cachePool: Set(configuration.cachePools.map(\.name.text))
            }
        }
    }

    private(set) var problems: [ConfigurationFileError.Problem] = []
    private var references: [(kind: Kind, name: String, line: Int)] = []

    mutating func object(_ line: Int, _ reason: String) {
        problems.append(.init(line: line, reason))
    }

    /// A name that has to be given somewhere in the file.
    mutating func refer(to name: String, _ kind: Kind, line: Int) {
        references.append((kind, name, line))
    }

    /// Objects to names that are given nowhere.
    mutating func checkReferences(to configuration: Configuration) {
        for reference in references {
            let names = reference.kind.names(in: configuration)
            guard !names.contains(reference.name) else { continue }
            object(
                reference.line,
                "there is no \(reference.kind.word) '\(reference.name)'"
                    + Nearness.hint(reference.name, names.sorted()))
        }
    }

    /// Objects to more secret files than are looked at each second.
    mutating func checkSecretFiles(of configuration: Configuration) {
        let count = configuration.secretFiles.count
        guard count > SecretFiles.filesMax else { return }
        problems.append(
            .init(line: nil, "\(count) secret files, at most \(SecretFiles.filesMax) are read"))
    }
}
