// Nearly every file of this target uses these modules.
@_exported import Imagebus
@_exported import Linux
@_exported import Model
@_exported import StackKit
@_exported import TestKit
@_exported import Testing

/// Otherwise it would be ambiguous, since `Linux` has one as well.
typealias TemporaryDirectory = TestKit.TemporaryDirectory
