# Synthesizes the design alone, out of context, with the clock of clock.xdc: reports in build/synth.
# Written from the public documentation of Vivado (UG835) and linted; Vivado has never run this script.
set here [file dirname [file normalize [info script]]]
source [file join $here settings.tcl]
set rtl [file normalize [file join $here .. rtl]]
set build [file join $here build synth]
file delete -force $build
file mkdir $build

create_project -in_memory -part $part
# A memory whose file is not found would be empty: an error, in place of a warning.
set_msg_config -id {Synth 8-4445} -new_severity ERROR
read_verilog [lsort [glob [file join $rtl *.v]]]
read_xdc -mode out_of_context [file join $here clock.xdc]
# $readmemh looks for files in the folder in which Vivado runs.
foreach memory [glob -nocomplain [file join $rtl *.hex]] {
    file copy -force $memory $build
}
cd $build
synth_design -top $top -part $part -mode out_of_context
report_utilization -file utilization.txt
report_timing_summary -file timing.txt
write_checkpoint -force $top.dcp
close_project
