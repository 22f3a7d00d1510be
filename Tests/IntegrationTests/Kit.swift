// Nearly every file of this target uses StackKit.
@_exported import StackKit
