package import CommandLineInterface

/// Which addresses downloads may reach, and whom they trust there.
package struct NetworkOptions: Hashable {
    package var allowsPrivateNetworks = false
    package var addresses: [String] = []
    /// Ranges that are never connected to.
    package var deniedAddresses: [String] = []
    /// Certificates that are trusted in place of the system's.
    package var certificatesFile: String?

    package init() {}

    package init(_ read: ReadOptions) throws(UsageError) {
        allowsPrivateNetworks = read.isSet("allow-private-networks")
        addresses = try read.parsedAll("allow-address", OptionValue.address)
        deniedAddresses = try read.parsedAll("deny-address", OptionValue.addressRange)
        certificatesFile = try read.parsed("ca-file", OptionValue.path)
    }

    /// The same as options of another program.
    package var arguments: [String] {
        (allowsPrivateNetworks ? ["--allow-private-networks"] : [])
            + addresses.flatMap { ["--allow-address", $0] }
            + deniedAddresses.flatMap { ["--deny-address", $0] }
            + (certificatesFile.map { ["--ca-file", $0] } ?? [])
    }
}
