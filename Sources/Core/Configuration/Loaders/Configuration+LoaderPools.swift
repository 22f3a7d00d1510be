import ImageModel
package import Messages

// Loaders that are workers of somebody else's.
extension Configuration {
    /// Pools that a loader may name.
    package var loaderPools: [WorkerPool] {
        pools.filter { $0.kind == .download && $0.trust == .foreign }
    }

    /// Pools that a cache may name.
    package var cachePools: [WorkerPool] {
        pools.filter { $0.kind == .cache && $0.trust == .foreign }
    }

    /// Loaders that name a pool take the schemes that it is granted, and the pool is theirs: what
    /// the file says of one in two places.
    package mutating func grantSchemes() {
        for index in loaders.indices {
            guard case .pool(let name) = loaders[index].means else { continue }
            for place in pools.indices where pools[place].name.text == name {
                let schemes = pools[place].grant.schemes ?? []
                loaders[index].schemes = Set(schemes.map { $0.lowercased() })
                pools[place].isLoader = true
            }
        }
    }
}
