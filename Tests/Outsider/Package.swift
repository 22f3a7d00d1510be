// swift-tools-version: 6.0
// A package outside the repository whose programs depend on one product each and nothing else.
// `scripts/test-readme` copies it to .build, puts a link to the repository beside it, and fills in
// the sources.
import PackageDescription

let imagebus: [Target.Dependency] = [.product(name: "Imagebus", package: "imagebus")]
let transforms: [Target.Dependency] = [.product(name: "ImagebusTransforms", package: "imagebus")]
let foundation: [Target.Dependency] = [.product(name: "ImagebusFoundation", package: "imagebus")]
let worker: [Target.Dependency] = [.product(name: "ImagebusWorker", package: "imagebus")]

/// The features that a strict package enables, and those of the next language version.
let strict: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

let package = Package(
    name: "outsider",
    dependencies: [.package(path: "imagebus")],
    targets: [
        .executableTarget(name: "snippet", dependencies: imagebus),
        .executableTarget(name: "strict-snippet", dependencies: imagebus, swiftSettings: strict),
        .executableTarget(name: "tutorial", dependencies: imagebus, swiftSettings: strict),
        .executableTarget(name: "pixels", dependencies: transforms, swiftSettings: strict),
        .executableTarget(name: "foundation", dependencies: foundation, swiftSettings: strict),
        .executableTarget(name: "negative", dependencies: worker, swiftSettings: strict),
        .executableTarget(name: "qoi", dependencies: worker),
        .executableTarget(name: "hits", dependencies: imagebus, swiftSettings: strict),
        .executableTarget(name: "service", dependencies: imagebus, swiftSettings: strict),
    ]
)
